"""A small Laravel application: routes in a group, a table without a migration, and a settings file."""

from __future__ import annotations

from pathlib import Path

_FILES = {
    "composer.json": '{"require": {"laravel/framework": "^11.0"}, "autoload": {"psr-4": {"App\\\\": "app/"}}}',
    "bootstrap/app.php": """<?php
return \\Illuminate\\Foundation\\Application::configure(basePath: dirname(__DIR__))
    ->withRouting(api: __DIR__.'/../routes/api.php')->create();
""",
    "routes/api.php": """<?php
use App\\Http\\Controllers\\InvoiceController;
use Illuminate\\Support\\Facades\\Route;

Route::middleware('auth:sanctum')->prefix('billing')->name('billing.')->group(function () {
    Route::get('invoices', [InvoiceController::class, 'index'])->name('invoices.index');
    Route::post('invoices/{invoice}/send', [InvoiceController::class, 'send'])
        ->name('invoices.send');
});
Route::get('ping', fn () => 'pong')->name('ping');
""",
    "app/Http/Controllers/InvoiceController.php": """<?php
namespace App\\Http\\Controllers;

use App\\Models\\Invoice;

class InvoiceController
{
    public function index()
    {
        return Invoice::query()->where('paid', false)->get();
    }

    public function send(Invoice $invoice)
    {
        $invoice->sent_at = now();
        $invoice->save();
    }
}
""",
    "app/Models/Invoice.php": """<?php
namespace App\\Models;

use Illuminate\\Database\\Eloquent\\Model;

class Invoice extends Model
{
    public function customer()
    {
        return $this->belongsTo(Customer::class);
    }
}
""",
    "app/Models/Customer.php": """<?php
namespace App\\Models;

use Illuminate\\Database\\Eloquent\\Model;

class Customer extends Model
{
    protected $table = 'clients';
}
""",
    "database/migrations/2024_01_01_000000_create_invoices_table.php": """<?php
use Illuminate\\Database\\Migrations\\Migration;
use Illuminate\\Database\\Schema\\Blueprint;
use Illuminate\\Support\\Facades\\Schema;

return new class extends Migration {
    public function up(): void
    {
        Schema::create('invoices', function (Blueprint $table) {
            $table->id();
            $table->boolean('paid')->default(false);
            $table->foreignId('customer_id')->constrained('clients');
        });
    }
};
""",
    "database/migrations/2024_02_01_000000_add_sent_at_to_invoices.php": """<?php
use Illuminate\\Database\\Migrations\\Migration;
use Illuminate\\Database\\Schema\\Blueprint;
use Illuminate\\Support\\Facades\\Schema;

return new class extends Migration {
    public function up(): void
    {
        Schema::table('invoices', function (Blueprint $table) {
            $table->timestamp('sent_at')->nullable();
        });
    }
};
""",
    "config/billing.php": """<?php
return [
    // Currency of all invoices
    'currency' => env('BILLING_CURRENCY', 'EUR'),
    'reminders' => [
        'first_after_days' => 14,
        'max' => 3,
    ],
];
""",
    "docs/billing.md": "# Billing\nInvoices are sent by mail once a day. Reminders follow after 14 days.\n",
}


def write_invoices(folder: Path) -> Path:
    """Write the application into a folder and return the folder."""
    for name, text in _FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
