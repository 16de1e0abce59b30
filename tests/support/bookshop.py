"""A small shop in Laravel, written out: enough of it for routes, requests, models, tables and events."""

from __future__ import annotations

from pathlib import Path

FILES = {
    "composer.json": '{"require": {"laravel/framework": "^11.0"}, "autoload": {"psr-4": {"App\\\\": "app/"}}}\n',
    "bootstrap/app.php": """<?php

use Illuminate\\Foundation\\Application;
use Illuminate\\Foundation\\Configuration\\Middleware;

return Application::configure(basePath: dirname(__DIR__))
    ->withRouting(api: __DIR__.'/../routes/api.php')
    ->withMiddleware(function (Middleware $middleware) {
        $middleware->alias(['open' => \\App\\Http\\Middleware\\OpenHours::class]);
    })
    ->create();
""",
    "routes/api.php": """<?php

use App\\Http\\Controllers\\BookController;
use Illuminate\\Support\\Facades\\Route;

Route::middleware('auth')->group(static function (): void {
    Route::apiResource('books', BookController::class)->only(['index', 'store', 'update']);
    Route::post('books/{book}/loans', [BookController::class, 'lend'])->name('books.lend')->middleware('open');
});
""",
    "app/Http/Middleware/OpenHours.php": """<?php

namespace App\\Http\\Middleware;

class OpenHours
{
    public function handle($request, $next)
    {
        return $next($request);
    }
}
""",
    "app/Http/Controllers/BookController.php": """<?php

namespace App\\Http\\Controllers;

use App\\Events\\BookLent;
use App\\Http\\Requests\\StoreBook;
use App\\Models\\Book;

class BookController
{
    public function index()
    {
        return Book::all();
    }

    public function store(StoreBook $request)
    {
        return Book::create($request->validated());
    }

    public function update(Book $book)
    {
        $book->save();
    }

    /** Hands a book out to a reader and starts the clock of its loan. */
    public function lend(Book $book)
    {
        event(new BookLent($book));
    }
}
""",
    "app/Http/Requests/StoreBook.php": """<?php

namespace App\\Http\\Requests;

use Illuminate\\Foundation\\Http\\FormRequest;

class StoreBook extends FormRequest
{
    public function rules(): array
    {
        return ['title' => 'required|string', 'pages' => 'integer'];
    }
}
""",
    "app/Models/Book.php": """<?php

namespace App\\Models;

use Illuminate\\Database\\Eloquent\\Model;

class Book extends Model
{
    public function author()
    {
        return $this->belongsTo(Author::class);
    }
}
""",
    "app/Models/Author.php": """<?php

namespace App\\Models;

use Illuminate\\Database\\Eloquent\\Model;

class Author extends Model
{
}
""",
    "app/Events/BookLent.php": """<?php

namespace App\\Events;

class BookLent
{
    public function __construct(public \\App\\Models\\Book $book) {}
}
""",
    "app/Listeners/WriteLoanSlip.php": """<?php

namespace App\\Listeners;

use App\\Events\\BookLent;

class WriteLoanSlip
{
    public function handle(BookLent $event): void
    {
    }
}
""",
    "database/migrations/2024_01_01_000000_create_books_table.php": """<?php

use Illuminate\\Database\\Migrations\\Migration;
use Illuminate\\Database\\Schema\\Blueprint;
use Illuminate\\Support\\Facades\\Schema;

return new class extends Migration
{
    public function up(): void
    {
        Schema::create('books', function (Blueprint $table) {
            $table->id();
            $table->string('title');
            $table->foreignId('author_id')->constrained();
        });
    }
};
""",
    "database/migrations/2024_02_01_000000_count_pages.php": """<?php

use Illuminate\\Database\\Migrations\\Migration;
use Illuminate\\Database\\Schema\\Blueprint;
use Illuminate\\Support\\Facades\\Schema;

return new class extends Migration
{
    public function up(): void
    {
        Schema::table('books', function (Blueprint $table) {
            $table->integer('pages')->nullable();
        });
    }
};
""",
    "README.md": "# The bookshop\n\nReaders borrow books; a loan lasts four weeks.\n",
    "docs/returns.md": "# Returns\n\nA book that comes back late costs ten cents a day.\n",
}


def written(folder: Path) -> Path:
    """Return a folder that holds the shop."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
