<?php

use App\Http\Controllers\OrderController;
use Illuminate\Support\Facades\Route;

Route::get('orders/{order}', [OrderController::class, 'show'])->name('orders.show');

Route::middleware('auth:sanctum')->group(function () {
    Route::post('orders', [OrderController::class, 'store'])->name('orders.store');
    Route::post('orders/{order}/cancel', [OrderController::class, 'cancel'])
        ->middleware('can:cancel,order')
        ->name('orders.cancel');
});
