<?php

namespace App\Http\Controllers;

use App\Models\Order;
use App\Services\Stock;
use Illuminate\Http\Request;

class OrderController
{
    public function __construct(private Stock $stock)
    {
    }

    public function show(Order $order): Order
    {
        return $order;
    }

    public function store(Request $request): Order
    {
        $order = Order::create($request->only('slab', 'quantity'));
        $this->stock->reserveSlabs($order->slab, $order->quantity);

        return $order;
    }

    public function cancel(Order $order): Order
    {
        $this->stock->releaseSlabs($order->slab, $order->quantity);
        $order->update(['cancelled_at' => now()]);

        return $order;
    }
}
